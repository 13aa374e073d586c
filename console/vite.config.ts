import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: at('.'),
  base: '/console/',
  // A bundle has no server to mark with "use client"; to say so at every install would help nobody.
  logLevel: 'error',
  // Their sources: no other part need be built before.
  resolve: {
    alias: [
      { find: '@fanfare/react/style.css', replacement: at('../packages/react/style.css') },
      { find: '@fanfare/react/more', replacement: at('../packages/react/src/more.ts') },
      { find: '@fanfare/react', replacement: at('../packages/react/src/index.ts') },
      { find: '@fanfare/client', replacement: at('../packages/client/src/index.ts') },
    ],
  },
  build: {
    outDir: at('dist'),
    rolldownOptions: { input: [at('index.html'), at('demo.html')] },
    emptyOutDir: true,
    target: 'es2023',
    // A page that may hold a token loads nothing it does not name: neither data addresses nor preload helpers. What its
    // first script imports it names too, so that both are loaded at once.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
