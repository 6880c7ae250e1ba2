//! The row by which readiness learns whether the database takes writes. It means nothing else.

pub(in crate::store) const WRITE: &str = "
    INSERT INTO tenant_auth_probe AS p (id, trials) VALUES (1, 1)
    ON CONFLICT (id) DO UPDATE SET trials = p.trials + 1";
