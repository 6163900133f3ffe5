//! What the verifier finds wrong with a revised document.

/// The five criteria (seed 003), in the order of their weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Criterion {
    /// Every old name is gone.
    Entities,
    /// The law and the courts are the new ones.
    Jurisdiction,
    /// Every indemnity goes the way that was asked for.
    Liability,
    /// Clauses were added, deleted, replaced and edited as asked.
    Clauses,
    /// Nothing else broke.
    Coherence,
}

impl Criterion {
    /// All of them, in the order of their weights.
    pub const ALL: [Self; 5] = [Self::Entities, Self::Jurisdiction, Self::Liability, Self::Clauses, Self::Coherence];

    /// The key of the critic's schema.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Entities => "entity_substitution",
            Self::Jurisdiction => "jurisdiction_transformation",
            Self::Liability => "liability_reallocation",
            Self::Clauses => "clause_operations",
            Self::Coherence => "legal_coherence",
        }
    }

    /// Its place in [`Criterion::ALL`].
    pub fn index(self) -> usize {
        match self {
            Self::Entities => 0,
            Self::Jurisdiction => 1,
            Self::Liability => 2,
            Self::Clauses => 3,
            Self::Coherence => 4,
        }
    }
}

/// What kind of thing is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FaultKind {
    /// An old name stands there still.
    MissedEntity,
    /// An old law or court stands there still, or the new one nowhere.
    MissedJurisdiction,
    /// An indemnity goes the wrong way.
    WrongDirection,
    /// An operation on a clause is not done.
    Undone,
    /// A reference points nowhere, or to another section than before.
    BrokenReference,
    /// A definition that nothing uses any more.
    OrphanedDefinition,
    /// A sub-clause whose clause is gone.
    OrphanedClause,
    /// A term that is used and not defined any more.
    Undefined,
    /// A gap or a double in the numbers.
    Numbering,
    /// A change that nobody asked for.
    Unintended,
    /// The format is damaged.
    Corrupt,
    /// Whether a criterion is met cannot be told, since there is no readable document: uncertainty is failure.
    Untold(Criterion),
}

impl FaultKind {
    /// The criterion that it counts against; formatting counts by its penalty alone.
    pub fn criterion(self) -> Option<Criterion> {
        match self {
            Self::MissedEntity => Some(Criterion::Entities),
            Self::MissedJurisdiction => Some(Criterion::Jurisdiction),
            Self::WrongDirection => Some(Criterion::Liability),
            Self::Undone => Some(Criterion::Clauses),
            Self::BrokenReference
            | Self::OrphanedDefinition
            | Self::OrphanedClause
            | Self::Undefined
            | Self::Numbering
            | Self::Unintended => Some(Criterion::Coherence),
            Self::Corrupt => None,
            Self::Untold(criterion) => Some(criterion),
        }
    }
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevisionFault {
    /// What kind.
    pub kind: FaultKind,
    /// What and where, for people.
    pub detail: String,
}

impl RevisionFault {
    /// A fault with its evidence.
    pub fn new(kind: FaultKind, detail: String) -> Self {
        Self { kind, detail }
    }
}
