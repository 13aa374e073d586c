/** Whether a pass may continue. Asked before every write. */
export interface Fence {
  /** `true` while no other worker has taken the action over. */
  isHeld(): Promise<boolean>;
  isStopping(): boolean;
}
