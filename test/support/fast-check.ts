import fc from 'fast-check';

/** Below the time a test has: what fails is reported with what it failed for, though it has not been made small yet. */
const LIMIT_MS = 150_000;

fc.configureGlobal({ interruptAfterTimeLimit: LIMIT_MS, markInterruptAsFailure: true });
