import type { Readiness } from '../http/pages/health.ts';

// Types that hosts see, apart from everything that is built by them.

/** What several processes that serve as one answer together. */
export interface AppGroup {
  readonly readiness: () => Promise<Readiness>;
  readonly metrics: () => Promise<string>;
}

/** What is being done about databases at the start. */
export interface StartStep {
  /** `exit`: a local database ended though nobody asked it to. Others are named by what is done. */
  readonly step: string;
  /** One sentence for people. */
  readonly message: string;
  /** How much of the step is done, 0 to 1, where that is known. */
  readonly fraction?: number;
}
