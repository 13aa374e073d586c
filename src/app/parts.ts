// The parts of the server, a line for each: without its folder and its line, a part is gone.

export { archive } from '../../parts/archive/part.ts';
export { bookmarks } from '../../parts/bookmarks/part.ts';
export { consume } from '../../parts/consume/part.ts';
export { demo } from '../../parts/demo/part.ts';
export { elements } from '../../parts/elements/part.ts';
export { erasure } from '../../parts/erasure/part.ts';
export { events } from '../../parts/events/part.ts';
export { explain } from '../../parts/explain/part.ts';
export { federation } from '../../parts/federation/part.ts';
export { feedModels } from '../../parts/feed-models/part.ts';
export { imports } from '../../parts/import/part.ts';
export { ingest } from '../../parts/ingest/part.ts';
export { mail } from '../../parts/mail/part.ts';
export { mcp } from '../../parts/mcp/part.ts';
export { notifications } from '../../parts/notifications/part.ts';
export { operators } from '../../parts/operators/part.ts';
export { planner } from '../../parts/planner/part.ts';
export { processes } from '../../parts/processes/part.ts';
export { sharding } from '../../parts/sharding/part.ts';
export { syndication } from '../../parts/syndication/part.ts';
export { tenants } from '../../parts/tenants/part.ts';
export { webPush } from '../../parts/web-push/part.ts';
export { webhooks } from '../../parts/webhooks/part.ts';
