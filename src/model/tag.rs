//! The tags of the failure taxonomy.

use super::words::words;

words! {
    /// Why a check failed: the tags of the failure taxonomy.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Tag {
        /// The agent did not have the rule.
        Prompt = "prompt",
        /// A parser, a mapping or a tool was wrong.
        Tooling = "tooling",
        /// The wrong node or tool was chosen.
        Routing = "routing",
        /// The output could not be read.
        Schema = "schema",
        /// The agent had the rule and ignored it.
        Model = "model",
        /// The agent took too long or used too much.
        Cost = "cost",
    }
}

impl Tag {
    /// The precedence of a tag if samples disagree: the lowest is reported. A format is fixed before a tool, a tool before
    /// a choice, a choice before the model. An agent without the rule comes before those that had it.
    pub fn precedence(self) -> u8 {
        match self {
            Self::Schema => 0,
            Self::Tooling => 1,
            Self::Routing => 2,
            Self::Prompt => 3,
            Self::Model => 4,
            Self::Cost => 5,
        }
    }

    /// The meaning of the tag.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Prompt => "the agent did not have the rule",
            Self::Tooling => "a parser, a mapping or a tool was wrong",
            Self::Routing => "the wrong node or tool was chosen",
            Self::Schema => "the output does not have the form that is asked for",
            Self::Model => "the agent had the rule and ignored it",
            Self::Cost => "the agent took too long or used too much",
        }
    }

    /// How to fix this kind of failure.
    pub fn fix_strategy(self) -> &'static str {
        match self {
            Self::Prompt => "update the prompt policy or the few-shot examples",
            Self::Tooling => "fix the tooling service",
            Self::Routing => {
                "fix how the agent chooses tools or nodes: the descriptions of the tools, the prompt, or the graph's edges"
            }
            Self::Schema => "improve JSON parsing or the prompt's output instructions",
            Self::Model => "adjust the prompt's emphasis or the model's temperature",
            Self::Cost => {
                "shorten the prompt, the answer or the calls, or choose a faster or cheaper model"
            }
        }
    }

    /// Whether reports state a count of this tag: five always, the others where they occur.
    pub fn is_stated(self, count: u32) -> bool {
        match self {
            Self::Prompt | Self::Tooling | Self::Routing | Self::Schema | Self::Model => true,
            Self::Cost => count > 0,
        }
    }
}
