/** Whether a pass may go on. Asked before every write. */
export interface Fence {
  /** No other worker has taken the action over. */
  isHeld(): Promise<boolean>;
  isStopping(): boolean;
}
