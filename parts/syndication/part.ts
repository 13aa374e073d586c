import type { Part } from '../../src/app/part.ts';
import { FEED_KEYS } from './src/store.ts';

export const syndication = {
  collections: [FEED_KEYS],
  api: () => import('./src/api.ts'),
  core: ({ syndicationUrl }) => ({ syndicationUrl }),
  routes: ({ syndicationUrl: url }) =>
    url === null
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
        ],
} satisfies Part;
