export interface EventMessage {
  /** Of the event: the same however often it is sent. */
  readonly id: string;
  /** The payload as JSON. */
  readonly body: string;
  readonly sentAt: Date;
}

/** A stream that events are put on. */
export interface EventStream {
  /** Resolves once the server has it. */
  put(message: EventMessage): Promise<void>;
  /** It is of no use any more, and another one has to be opened. */
  isLost(): boolean;
  close(): Promise<void>;
}
