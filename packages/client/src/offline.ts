/** What a reader saw last and has done since, kept in the browser while there is no connection. */
export { openOffline, type Offline, type OfflineOptions } from './offline/open.ts';
export type { KeptList } from './offline/lists.ts';
export type { WaitingWrite, WriteName } from './offline/outbox.ts';
export type { OfflineProblem, OfflineStore } from './offline/store.ts';
