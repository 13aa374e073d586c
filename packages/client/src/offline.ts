/** What a reader saw last and has done since, kept in the browser while there is no connection. */
export { openOffline, type Offline, type OfflineOptions } from './offline/open.ts';
export type { KeptList } from './offline/lists.ts';
export type { Send, WaitingWrite, Write } from './offline/outbox.ts';
export type { WriteName } from './offline/waiting.ts';
export type { OfflineProblem, OfflineStore } from './offline/store.ts';
