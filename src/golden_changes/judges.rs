//! Rubrics and labels of judges. Judges are advisory, so their changes need no approval.

use super::Sides;
use super::edits::FileView;
use super::files::difference;
use super::found::ChangeCollector;
use crate::model::{ChangeClass, SuiteConfig, Weight};

/// Compares the rubrics and labels of judges that both sides have.
pub fn compare(
    sides: &Sides<'_>,
    base: &SuiteConfig,
    head: &SuiteConfig,
    collector: &mut ChangeCollector,
) {
    for new in &head.judges {
        let Some(old) = base.judges.iter().find(|old| old.name == new.name) else {
            continue;
        };
        let files = [
            ("rubric", Some(&old.rubric), Some(&new.rubric)),
            ("labels", old.labels.as_ref(), new.labels.as_ref()),
        ];
        for (noun, old, new_file) in files {
            let (Some(old), Some(new_file)) = (old, new_file) else {
                continue;
            };
            if let Some(difference) = difference(sides, old, new_file, FileView::Whole) {
                let words = format!(
                    "{noun} of the judge {} of `{}` edited: {difference}",
                    new.name, head.id
                );
                collector.add(ChangeClass::Material, Weight::Listed, words, Some(new_file));
            }
        }
    }
}
