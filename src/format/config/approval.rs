//! Who may approve a pull request, and with which labels.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::model::{ApprovalPolicy, BaselineRule, ByAuthor, Permission};

/// Who may approve a pull request, and with which labels. The base commit's config decides.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct ApprovalForm {
    /// The label that approves; default `goldgate:accept-baseline`.
    pub(super) label: Option<String>,
    /// The least repository permission of whoever sets a label; default `write`.
    pub(super) approvers: Option<ApproversForm>,
    /// Whether the author of a pull request, and whoever pushed last to it, may approve it; default `false`.
    #[serde(default)]
    pub(super) allow_self_approval: bool,
    /// The label that starts a recording; default `goldgate:record`.
    pub(super) record_label: Option<String>,
    /// Which baselines of a pull request need the label; default `worse`.
    pub(super) baseline: Option<BaselineRuleForm>,
}

/// The least permission of whoever sets a label.
#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "lowercase")]
pub(super) enum ApproversForm {
    /// May push.
    Write,
    /// May change some settings.
    Maintain,
    /// May change everything.
    Admin,
}

/// Which baselines of a pull request need the label.
#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "lowercase")]
pub(super) enum BaselineRuleForm {
    /// One with a worse number, or with others than were measured.
    Worse,
    /// Every one with other numbers.
    Any,
}

impl From<ApprovalForm> for ApprovalPolicy {
    fn from(form: ApprovalForm) -> Self {
        let default = Self::default();
        Self {
            label: form.label.unwrap_or(default.label),
            approvers: match form.approvers {
                None | Some(ApproversForm::Write) => Permission::Write,
                Some(ApproversForm::Maintain) => Permission::Maintain,
                Some(ApproversForm::Admin) => Permission::Admin,
            },
            by_author: if form.allow_self_approval {
                ByAuthor::Counts
            } else {
                ByAuthor::DoesNotCount
            },
            record_label: form.record_label.unwrap_or(default.record_label),
            baseline: match form.baseline {
                None | Some(BaselineRuleForm::Worse) => BaselineRule::Worse,
                Some(BaselineRuleForm::Any) => BaselineRule::Any,
            },
        }
    }
}
