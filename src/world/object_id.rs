//! The id under which git stores the bytes of an object.

use sha1::{Digest, Sha1};
use sha2::Sha256;

use crate::files::sha256_hex;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ObjectKind {
    /// The bytes of a file.
    Blob,
    #[cfg(feature = "github")]
    Tree,
    #[cfg(feature = "github")]
    Commit,
}

impl ObjectKind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Blob => "blob",
            #[cfg(feature = "github")]
            Self::Tree => "tree",
            #[cfg(feature = "github")]
            Self::Commit => "commit",
        }
    }
}

/// The digest in a git object id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ObjectId(Box<[u8]>);

/// The hash of a git object id, by its number of digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IdForm {
    /// 40 digits. SHA-1 is safe here, because git hosts reject files made to collide.
    Sha1,
    /// 64 digits.
    Sha256,
}

impl IdForm {
    #[cfg(feature = "github")]
    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 => LONGEST,
        }
    }

    /// The form of an id; `None` if the length fits neither.
    pub(crate) fn of(id: &str) -> Option<Self> {
        match id.len() {
            40 => Some(Self::Sha1),
            64 => Some(Self::Sha256),
            _ => None,
        }
    }
}

impl ObjectId {
    /// Computes the id of these bytes.
    pub(crate) fn of(form: IdForm, kind: ObjectKind, bytes: &[u8]) -> Self {
        let heading = format!("{} {}\0", kind.as_str(), bytes.len());
        let parts = [heading.as_bytes(), bytes];
        Self(match form {
            IdForm::Sha1 => parts
                .iter()
                .fold(Sha1::new(), |hash, part| hash.chain_update(part))
                .finalize()[..]
                .into(),
            IdForm::Sha256 => parts
                .iter()
                .fold(Sha256::new(), |hash, part| hash.chain_update(part))
                .finalize()[..]
                .into(),
        })
    }

    /// Whether `id` is this id in lower-case hexadecimal.
    pub(crate) fn is(&self, id: &str) -> bool {
        let mut digits = [0; 2 * LONGEST];
        let digits = digits.get_mut(..2 * self.0.len());
        digits.is_some_and(|digits| {
            hex::encode_to_slice(&self.0, digits).is_ok() && digits == id.as_bytes()
        })
    }

    /// The id of the Git LFS pointer of these bytes. A pointer contains their digest, so it identifies them.
    pub(crate) fn of_pointer(form: IdForm, bytes: &[u8]) -> Self {
        Self::of(
            form,
            ObjectKind::Blob,
            pointer(&sha256_hex(bytes), bytes.len()).as_bytes(),
        )
    }
}

/// The number of bytes of the longest id.
const LONGEST: usize = 32;

/// The Git LFS pointer of a file with this digest and size.
fn pointer(digest: &str, size: usize) -> String {
    format!("version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {size}\n")
}

/// The length of the Git LFS pointer of a file of this size.
pub(crate) fn pointer_length(size: usize) -> usize {
    pointer("", size).len() + 2 * LONGEST
}
