//! Routing: finds the row that answers a request, by its path and method.

use ::http::Method;
use matchit::Router;
use percent_encoding::percent_decode_str;

use std::sync::Arc;

use super::{context::Context, refusal::RoutingError, route::Row, table::routes};
use crate::metrics::{Requests, RouteCounts};

/// Finds rows by path and method.
pub(crate) struct Table {
    /// For each path template, its rows.
    paths: Router<Vec<Place>>,
}

/// A row, and the counters of its requests.
struct Place {
    row: &'static Row,
    counts: Arc<RouteCounts>,
}

/// What answers a request.
pub(crate) struct Matched<'t> {
    pub(crate) row: &'static Row,
    /// The decoded parameters of the path.
    pub(crate) params: Vec<String>,
    /// The row's counters, unless it answers another method than its own.
    pub(crate) counts: Option<&'t RouteCounts>,
}

impl Table {
    pub(crate) fn new(requests: &Requests) -> Self {
        let mut paths: Vec<(&'static str, Vec<Place>)> = Vec::new();
        for row in routes() {
            let place = Place { row, counts: requests.of(&row.method, row.path) };
            match paths.iter_mut().find(|(path, _)| *path == row.path) {
                Some((_, places)) => places.push(place),
                None => paths.push((row.path, vec![place])),
            }
        }
        let mut router = Router::new();
        for (path, places) in paths {
            let inserted = router.insert(path, places);
            debug_assert!(inserted.is_ok(), "{path} collides with another path");
        }
        Self { paths: router }
    }

    /// Finds the row of a request, and decodes the parameters of its path (here and nowhere else). The row of GET answers HEAD,
    /// too.
    pub(crate) fn find(&self, base: &str, context: &Context) -> Result<Matched<'_>, RoutingError> {
        let path = context.path().strip_prefix(base).ok_or(RoutingError::NoSuchPath)?;
        let matched = self.paths.at(path).map_err(|_| RoutingError::NoSuchPath)?;
        let method = if *context.method() == Method::HEAD { &Method::GET } else { context.method() };
        let Some(place) = matched.value.iter().find(|place| place.row.method == *method) else {
            let path = matched.value.first().map_or("", |place| place.row.path);
            return Err(RoutingError::WrongMethod { path, methods: methods(matched.value) });
        };
        let params = matched.params.iter().map(|(_, raw)| percent_decode_str(raw).decode_utf8_lossy().into_owned()).collect();
        let counts = (method == context.method()).then_some(&*place.counts);
        Ok(Matched { row: place.row, params, counts })
    }
}

fn methods(places: &[Place]) -> Vec<Method> {
    let mut methods: Vec<Method> = places.iter().map(|place| place.row.method.clone()).collect();
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
        let table = Table::new(&Requests::default());
        for row in routes() {
            let path =
                row.path.replace("{userId}", "usr_x").replace("{token}", "t").replace("{invite}", "inv_x").replace("{id}", "key_x");
            let matched = table.paths.at(&path).expect(row.path);
            assert!(matched.value.iter().any(|found| found.row.path == row.path && found.row.method == row.method), "{row:?}");
        }
    }
}
