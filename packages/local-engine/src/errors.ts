/**
 * `NO_MONGODB`, `NO_REDIS`: no rung of the ladder can be used here. `DATA_DIR_BUSY`: a live process uses the folder.
 * `DATA_DIR_UNUSABLE`: what is in the folder does not fit what can run here. `BUILD_FAILED`: the engine could not be
 * fetched or put together. `START_FAILED`: a service did not come up, or its keeper is gone.
 */
export type EmbeddedErrorCode =
  | 'NO_MONGODB'
  | 'NO_REDIS'
  | 'DATA_DIR_BUSY'
  | 'DATA_DIR_UNUSABLE'
  | 'BUILD_FAILED'
  | 'START_FAILED';

/** Why the embedded services cannot be used. The message is meant for the person who started the server. */
export class EmbeddedError extends Error {
  override readonly name = 'EmbeddedError';
  readonly code: EmbeddedErrorCode;

  constructor(code: EmbeddedErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The message of anything thrown. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
