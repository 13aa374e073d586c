import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { exampleConfig } from './config.ts';
import { startServer } from './server.ts';

export default defineConfig(async ({ command }) => {
  if (command === 'build') return { root: fileURLToPath(new URL('.', import.meta.url)) };
  const { url, token, close } = await startServer();
  const { plugins = [], ...config } = exampleConfig({ url, token });
  const ending = {
    name: 'ending',
    // When vite ends, and before it reads this file again.
    closeBundle: close,
  };
  return { ...config, plugins: [...plugins, ending] };
});
