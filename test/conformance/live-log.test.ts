import { inject } from 'vitest';
import { MemoryLiveLog } from '../support/memory-live-log.ts';
import { openRedisLog } from './live-log-redis.ts';
import { liveLogConformance } from './live-log.conformance.ts';

liveLogConformance('memory', async (options) => {
  const log = await Promise.resolve(new MemoryLiveLog(options));
  return {
    log,
    held: () => Promise.resolve({ watchers: log.usage.watchers, readers: log.usage.readers }),
    stored: () => Promise.resolve(log.usage.logs + log.usage.timers),
    [Symbol.asyncDispose]: () => log[Symbol.asyncDispose](),
  };
});

liveLogConformance('redis', async (options) => {
  const fixture = await openRedisLog({ ...options, url: inject('redisUrl') });
  const listeners = fixture.listeners();
  return {
    log: fixture.log,
    held: async () => ({
      ...fixture.log.usage,
      acknowledgedChannels: (await fixture.channels()).length,
      // A closed log has taken its own off as well.
      listeners: Math.max(0, fixture.listeners() - listeners),
    }),
    stored: async () => (await fixture.keys()).filter((key) => key !== 'live:epoch').length,
    [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose](),
  };
});
