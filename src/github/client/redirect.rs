//! Redirects within the API: GitHub sends requests about a renamed repository to the address of its number, and those need the token.

use anyhow::Context;
use http::{Method, StatusCode, Uri};

use super::response::GitHubResponse;

/// Maximum number of redirects of one request.
pub(super) const HOPS: usize = 3;

/// The parts of the API that a renamed repository is below (GitHub docs, "Best practices for using the REST API", "Follow redirects").
const REPOSITORIES: [&str; 2] = ["/repositories/", "/repos/"];

pub(super) struct ApiAddress(Uri);

impl ApiAddress {
    /// Reads the address of the API.
    pub(super) fn parse(api: &str) -> anyhow::Result<Self> {
        let address: Uri = api
            .parse()
            .with_context(|| format!("GITHUB_API_URL is {api:?}"))?;
        let is_whole =
            matches!(address.scheme_str(), Some("http" | "https")) && address.host().is_some();
        anyhow::ensure!(
            is_whole,
            "GITHUB_API_URL is {api:?}; it is an address such as https://api.github.com"
        );
        Ok(Self(address))
    }

    /// Returns the path that a redirect leads to, if the token may be sent there: to a repository, in this API, on the same host. A
    /// request that changes something is only repeated where the answer keeps its method.
    pub(super) fn next_path(&self, method: &Method, answer: &GitHubResponse) -> Option<String> {
        let is_followed = match answer.status {
            StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT => true,
            StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => *method == Method::GET,
            _ => false,
        };
        let target = answer
            .headers
            .get("location")
            .filter(|_| is_followed)?
            .to_str()
            .ok()?;
        self.path_of_repository(target)
    }

    /// The path and the query of an address below this one, if it is one of a repository.
    fn path_of_repository(&self, target: &str) -> Option<String> {
        let target: Uri = target.parse().ok()?;
        let is_same_host =
            (target.scheme(), target.authority()) == (self.0.scheme(), self.0.authority());
        if !is_same_host && target.authority().is_some() {
            return None;
        }
        let path = target.path_and_query()?.as_str();
        let path = path.strip_prefix(self.0.path().trim_end_matches('/'))?;
        let is_repository = REPOSITORIES.iter().any(|start| path.starts_with(start));
        (is_repository && !has_dots(target.path())).then(|| path.to_owned())
    }
}

/// Whether a part of a path leads to the folder above, so that the path is not below what it begins with.
fn has_dots(path: &str) -> bool {
    path.to_ascii_lowercase()
        .replace("%2e", ".")
        .split('/')
        .any(|part| matches!(part, "." | ".."))
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;

    use super::{ApiAddress, GitHubResponse, Method, StatusCode};

    fn next(api: &str, method: &Method, status: u16, location: &str) -> Option<String> {
        let mut headers = HeaderMap::new();
        headers.insert("location", location.parse().unwrap());
        let answer = GitHubResponse {
            status: StatusCode::from_u16(status).unwrap(),
            headers,
            body: Vec::new(),
        };
        ApiAddress::parse(api).unwrap().next_path(method, &answer)
    }

    #[test]
    fn the_token_goes_to_repositories_of_the_same_api_alone() {
        for (api, location, expected) in [
            (
                "https://api.github.com",
                "https://api.github.com/repositories/1/pulls?a=b",
                Some("/repositories/1/pulls?a=b"),
            ),
            (
                "https://api.github.com/",
                "https://API.github.com/repos/acme/new/pulls",
                Some("/repos/acme/new/pulls"),
            ),
            (
                "https://api.github.com",
                "/repositories/1/pulls",
                Some("/repositories/1/pulls"),
            ),
            (
                "https://git.acme/api/v3",
                "https://git.acme/api/v3/repositories/1",
                Some("/repositories/1"),
            ),
            (
                "https://git.acme/api/v3",
                "https://git.acme/repositories/1",
                None,
            ),
            (
                "https://git.acme/api/v3",
                "https://git.acme/api/v3/repositories/../../../_services/x",
                None,
            ),
            (
                "https://git.acme/api/v3",
                "https://git.acme/api/v3/repositories/%2E%2e/x",
                None,
            ),
            (
                "https://git.acme/api/v3",
                "https://git.acme/_codeload/acme/agents",
                None,
            ),
            (
                "https://api.github.com",
                "http://api.github.com/repositories/1",
                None,
            ),
            (
                "https://api.github.com",
                "https://api.github.com:444/repositories/1",
                None,
            ),
            (
                "https://api.github.com",
                "https://api.github.com.evil.example/repositories/1",
                None,
            ),
            (
                "https://api.github.com",
                "https://me@api.github.com/repositories/1",
                None,
            ),
            (
                "https://api.github.com",
                "//evil.example/repositories/1",
                None,
            ),
            (
                "https://api.github.com",
                "https://codeload.github.com/repos/acme/agents",
                None,
            ),
            (
                "https://api.github.com",
                "https://api.github.com/user",
                None,
            ),
        ] {
            assert_eq!(
                next(api, &Method::GET, 301, location).as_deref(),
                expected,
                "{api} {location}"
            );
        }
    }

    #[test]
    fn a_change_is_repeated_only_where_its_method_is_kept() {
        for (status, read, changed) in [
            (200, false, false),
            (301, true, false),
            (302, true, false),
            (303, false, false),
            (307, true, true),
            (308, true, true),
        ] {
            let is_followed = |method: &Method| {
                next("https://a.example", method, status, "/repositories/1").is_some()
            };
            assert_eq!(
                (is_followed(&Method::GET), is_followed(&Method::PATCH)),
                (read, changed),
                "{status}"
            );
        }
    }
}
