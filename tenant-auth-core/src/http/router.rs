//! Routing: finds the row that answers a request, by its path and method.

use ::http::Method;
use matchit::Router;
use percent_encoding::percent_decode_str;

use super::{context::Context, refusal::RoutingError, route::Row, table::routes};

/// Finds rows by path and method.
pub(crate) struct Table {
    /// For each path template, its rows.
    paths: Router<Vec<&'static Row>>,
}

impl Table {
    pub(crate) fn new() -> Self {
        let mut paths: Vec<(&'static str, Vec<&'static Row>)> = Vec::new();
        for row in routes() {
            match paths.iter_mut().find(|(path, _)| *path == row.path) {
                Some((_, rows)) => rows.push(row),
                None => paths.push((row.path, vec![row])),
            }
        }
        let mut router = Router::new();
        for (path, rows) in paths {
            let inserted = router.insert(path, rows);
            debug_assert!(inserted.is_ok(), "{path} collides with another path");
        }
        Self { paths: router }
    }

    /// Finds the row of a request, and decodes the parameters of its path (here and nowhere else). The row of GET answers HEAD,
    /// too.
    pub(crate) fn find(&self, base: &str, context: &Context) -> Result<(&'static Row, Vec<String>), RoutingError> {
        let path = context.path().strip_prefix(base).ok_or(RoutingError::NoSuchPath)?;
        let matched = self.paths.at(path).map_err(|_| RoutingError::NoSuchPath)?;
        let method = if *context.method() == Method::HEAD { &Method::GET } else { context.method() };
        let Some(row) = matched.value.iter().find(|row| row.method == *method) else {
            let path = matched.value.first().map_or("", |row| row.path);
            return Err(RoutingError::WrongMethod { path, methods: methods(matched.value) });
        };
        let params = matched.params.iter().map(|(_, raw)| percent_decode_str(raw).decode_utf8_lossy().into_owned()).collect();
        Ok((row, params))
    }
}

fn methods(rows: &[&'static Row]) -> Vec<Method> {
    let mut methods: Vec<Method> = rows.iter().map(|row| row.method.clone()).collect();
    if methods.contains(&Method::GET) {
        methods.push(Method::HEAD);
    }
    methods
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Table({} rows)", routes().count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_finds_its_own_row() {
        let table = Table::new();
        for row in routes() {
            let path =
                row.path.replace("{userId}", "usr_x").replace("{token}", "t").replace("{invite}", "inv_x").replace("{id}", "key_x");
            let matched = table.paths.at(&path).expect(row.path);
            assert!(matched.value.iter().any(|found| found.path == row.path && found.method == row.method), "{row:?}");
        }
    }
}
