-- The requests for a link to sign up with by when they are due: those that nobody tried yet, and those that are tried again. Each is read
-- in its order, however many wait.
CREATE INDEX tenant_auth_sign_up_requests_untried ON tenant_auth_sign_up_requests (next_attempt_at, id) WHERE attempts = 0;
CREATE INDEX tenant_auth_sign_up_requests_tried ON tenant_auth_sign_up_requests (next_attempt_at, id) WHERE attempts > 0;
