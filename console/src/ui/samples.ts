/** The server keeps one for so long a time. */
export const SAMPLE_MS = 10_000;

export const SAMPLES = `query Samples { samples {
  at published deliveries failedAttempts requests errors liveEvents resyncs watchers pending lagP50 lagP99 } }`;

type Counted =
  | 'published'
  | 'deliveries'
  | 'failedAttempts'
  | 'requests'
  | 'errors'
  | 'liveEvents'
  | 'resyncs';

/** What happened in all processes in that time. */
export interface Sample extends Readonly<Record<Counted, number>> {
  readonly at: string;
  readonly watchers: number;
  readonly pending: number | null;
  /** In ms, of the minute until the end. */
  readonly lagP50: number | null;
  readonly lagP99: number | null;
}
