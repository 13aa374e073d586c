import { defineConfig } from 'vite';
import { startServer } from '../react/server.ts';
import { elementsConfig } from './config.js';

export default defineConfig(async ({ command }) => {
  if (command === 'build') return elementsConfig({ url: '', token: () => Promise.resolve('') });
  const { url, token, close } = await startServer();
  const config = elementsConfig({ url, token });
  // When vite ends, and before it reads this file again.
  return { ...config, plugins: [...config.plugins, { name: 'ending', closeBundle: close }] };
});
