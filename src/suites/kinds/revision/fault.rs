//! The faults that the verifier finds in a revised document.

use crate::model::words;
use crate::text::norm;

words! {
    /// The five criteria, in the order of their weights.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Criterion {
        /// All old names are replaced.
        Entities = "entity_substitution",
        /// The law and the courts are replaced.
        Jurisdiction = "jurisdiction_transformation",
        /// Every indemnity has the requested direction.
        Liability = "liability_reallocation",
        /// Clauses were added, deleted, replaced and edited as requested.
        Clauses = "clause_operations",
        /// Nothing else is broken.
        Coherence = "legal_coherence",
    }
}

impl Criterion {
    /// The criterion whose word is part of a name, such as `clause_deletion_complete`.
    pub fn in_name(name: &str) -> Option<Self> {
        let name = norm(name);
        let parts = [
            ("entity", Self::Entities),
            ("jurisdiction", Self::Jurisdiction),
            ("liability", Self::Liability),
            ("clause", Self::Clauses),
            ("coherence", Self::Coherence),
        ];
        let part = parts.into_iter().find(|(word, _)| name.contains(word));
        part.map(|(_, criterion)| criterion)
    }

    /// Its index in [`Criterion::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FaultKind {
    /// An old name remains.
    MissedEntity,
    /// An old law or court remains, or the new one does not appear.
    MissedJurisdiction,
    WrongDirection,
    /// An operation on a clause is not done.
    Undone,
    /// A reference points to a missing section, or to another section than before.
    BrokenReference,
    /// A definition that lost its last use.
    OrphanedDefinition,
    /// A sub-clause whose parent clause was removed.
    OrphanedClause,
    /// A used term that lost its definition.
    Undefined,
    /// A gap or a duplicate in the numbering.
    Numbering,
    /// An unrequested change.
    Unintended,
    /// The format is damaged.
    Corrupt,
    /// The criterion cannot be verified because the document is unreadable. This counts as a failure.
    Unverifiable(Criterion),
}

impl FaultKind {
    /// The criterion that it counts against; `None` for format damage, which only has a penalty.
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
            Self::Unverifiable(criterion) => Some(criterion),
        }
    }

    /// What broke, if its criterion has several rules.
    pub fn rule(self) -> Option<&'static str> {
        match self {
            Self::BrokenReference => Some("broken reference"),
            Self::OrphanedDefinition => Some("unused definition"),
            Self::Undefined => Some("lost definition"),
            Self::OrphanedClause | Self::Numbering => Some("broken numbering"),
            Self::Unintended => Some("unrequested change"),
            Self::MissedEntity
            | Self::MissedJurisdiction
            | Self::WrongDirection
            | Self::Undone
            | Self::Corrupt
            | Self::Unverifiable(_) => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevisionFault {
    pub kind: FaultKind,
    /// What is wrong and where, for people.
    pub detail: String,
}

impl RevisionFault {
    pub fn new(kind: FaultKind, detail: String) -> Self {
        Self { kind, detail }
    }
}

/// How many faults are of one of these kinds.
pub fn count_of(faults: &[RevisionFault], kinds: &[FaultKind]) -> usize {
    faults
        .iter()
        .filter(|fault| kinds.contains(&fault.kind))
        .count()
}
