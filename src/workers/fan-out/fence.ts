/** Whether a pass may continue. Asked before every write. */
export interface Fence {
  /** `true` while no other worker has taken the action over. */
  isHeld(): Promise<boolean>;
  isStopping(): boolean;
  /** Other passes are under way in this process: then fewer, larger writes bring all of them to an end sooner. */
  hasCompany(): boolean;
}
