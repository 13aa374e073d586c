import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { createFanfare } from '@fanfare/server';
import { defineConfig } from 'vite';
import { exampleConfig } from '../react/config.ts';
import { signToken } from '../react/server.ts';
import recipes from './fanfare.config.ts';

const root = fileURLToPath(new URL('.', import.meta.url));

export default defineConfig(async ({ command }) => {
  if (command === 'build') return { root };
  const secret = randomBytes(32).toString('hex');
  const settings = {
    ...{ JWT_SECRET: secret, HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'warn', DIRECTORY_SEARCH: 'members' },
    DATA_DIR: fileURLToPath(new URL('.fanfare', import.meta.url)),
  };
  const fanfare = createFanfare(recipes, { api: true, settings });
  await fanfare.start();
  await fanfare.upsertMembers([
    { memberId: 'ann', name: 'Ann Berg' },
    { memberId: 'bea', name: 'Bea Costa' },
  ]);
  await fanfare.follow([{ followerId: 'ann', refId: 'bea' }]);
  const recipeCooked = {
    recipeId: 'recipe:shakshuka',
    recipeName: 'Shakshuka',
    rating: 4,
    note: 'More cumin.',
  };
  await fanfare.publish({ actorId: 'bea', descriptor: { recipeCooked }, mentions: ['ann'] });
  return {
    ...exampleConfig({ url: fanfare.url ?? '', token: () => Promise.resolve(signToken('ann', secret)) }),
    root,
  };
});
