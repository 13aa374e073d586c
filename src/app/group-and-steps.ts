import type { Readiness } from '../http/pages/health.ts';

// Public types, kept free of imports of the implementation.

/** Answers that several processes of one server give together. */
export interface AppGroup {
  readonly readiness: () => Promise<Readiness>;
  readonly metrics: () => Promise<string>;
}

/** Progress of preparing the databases at start. */
export interface StartStep {
  /** `exit`: a local database ended unexpectedly. Other names say what is being done. */
  readonly step: string;
  /** One sentence for people. */
  readonly message: string;
  /** Progress from 0 to 1, when known. */
  readonly fraction?: number;
}
