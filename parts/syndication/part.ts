import type { Part } from '../../src/app/part.ts';
import { SYNDICATION } from './src/settings.ts';
import { FEED_KEYS } from './src/store.ts';

export const syndication = {
  collections: [FEED_KEYS],
  api: () => import('./src/api.ts'),
  settings: SYNDICATION,
  core: (config) => ({ syndicationUrl: config.of(SYNDICATION) }),
  routes(config) {
    const url = config.of(SYNDICATION);
    return url === null
      ? []
      : [
          {
            path: '/feeds/',
            load: async (http) => (await import('./src/feeds.ts')).syndicatedFeeds(http, url),
          },
          {
            path: '/actions/',
            load: async (http) => (await import('./src/activity-streams.ts')).activityStreams(http, url),
          },
          {
            path: '/refs/',
            load: async (http) => (await import('./src/activity-streams.ts')).activityStreams(http, url),
          },
        ];
  },
} satisfies Part;
