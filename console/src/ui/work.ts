export const WORK = `query Work { work { failedFanOuts rebuildsDue renamesDue watchers workers
  lanes { lane pending oldestSeconds } } }`;

export interface Work {
  readonly work: {
    readonly failedFanOuts: number;
    readonly rebuildsDue: number;
    readonly renamesDue: number;
    readonly watchers: number;
    readonly workers: number;
    readonly lanes: readonly {
      readonly lane: string;
      readonly pending: number;
      readonly oldestSeconds: number;
    }[];
  };
}
