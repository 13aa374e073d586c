/**
 * How long to wait for what has to come. No statement about speed: only what never comes takes this long, and a machine
 * may be as busy as it likes.
 */
export const PATIENCE_MS = 150_000;
