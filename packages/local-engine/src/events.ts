/** What the embedded services are doing, for the log and for a progress bar. */
export interface EmbeddedEvent {
  /**
   * `choice`: which engine was taken, and why. `download`, `unpack`, `prepare`: the engine is being made ready.
   * `start`, `ready`: a service comes up. `wait`: another process is in the way for a moment. `recover`: something an
   * earlier run left is being cleared. `exit`: a service ended though nobody asked it to; it is started again.
   * `lost`: it has ended for good, so what depends on it cannot go on.
   */
  readonly step:
    | 'choice'
    | 'download'
    | 'unpack'
    | 'prepare'
    | 'start'
    | 'ready'
    | 'wait'
    | 'recover'
    | 'exit'
    | 'lost';
  /** One sentence for people. */
  readonly message: string;
  /** How much of the step is done, 0 to 1, where that is known. */
  readonly fraction?: number;
}

export type OnEmbeddedEvent = (event: EmbeddedEvent) => void;
