import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { buildTarget } from '../scripts/oldest-browsers.js';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** What both pages need before anything is shown. */
const BASE =
  /node_modules\/(?:react|react-dom|scheduler)\/|words\/(?:language|jsx-runtime)|lucide-react\/dist\/esm\/(?!icons)|console\/src\/(?:ui\/mark|host)|packages\/client\/src|react\/src\/(?:provider|parts\/(?:avatar|feed|focus-outside|frame|icon|item)|hooks\/(?:engagement|feed|relative-time)|store\/(?!answers|comments|deeds|notification|own-lists|standings))/;

export default defineConfig({
  root: at('.'),
  base: '/console/',
  // A bundle has no server to mark with "use client"; to say so at every install would help nobody.
  logLevel: 'error',
  // Elements are made with the words of the reader's language: see src/words.
  oxc: { jsx: { runtime: 'automatic', importSource: 'fanfare-words', development: false } },
  // Their sources: no other part need be built before.
  resolve: {
    alias: [
      { find: 'fanfare-words/jsx-runtime', replacement: at('src/words/jsx-runtime.ts') },
      ...['tokens', 'feed', 'more'].map((name) => ({
        find: `@fanfare/react/${name}.css`,
        replacement: at(`../packages/react/${name}.css`),
      })),
      { find: '@fanfare/react/more', replacement: at('../packages/react/src/more.ts') },
      { find: '@fanfare/react', replacement: at('../packages/react/src/index.ts') },
      { find: '@fanfare/client', replacement: at('../packages/client/src/index.ts') },
    ],
  },
  build: {
    outDir: at('dist'),
    rolldownOptions: {
      input: [at('index.html'), at('demo.html')],
      // One file compresses better than four.
      output: {
        // Each name that the first script may load is a part of it, and a hash compresses badly.
        chunkFileNames: 'assets/[name]-[hash:6].js',
        codeSplitting: {
          groups: [{ name: 'base', test: BASE }],
        },
      },
    },
    emptyOutDir: true,
    target: buildTarget(),
    // A page that may hold a token loads nothing it does not name: neither data addresses nor preload helpers. What its
    // first script imports it names too, so that both are loaded at once.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
