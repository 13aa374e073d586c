export const WORK = `query Work { work { failedFanOuts rebuildsDue renamesDue watchers workers feedModel feedCap
  lanes { lane pending oldestSeconds } } }`;

export interface Work {
  readonly work: {
    readonly failedFanOuts: number;
    readonly rebuildsDue: number;
    readonly renamesDue: number;
    readonly watchers: number;
    readonly workers: number;
    readonly feedModel: string;
    readonly feedCap: number;
    readonly lanes: readonly {
      readonly lane: string;
      readonly pending: number;
      readonly oldestSeconds: number;
    }[];
  };
}
