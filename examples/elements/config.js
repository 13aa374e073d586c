import { fileURLToPath } from 'node:url';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import vue from '@vitejs/plugin-vue';
import { exampleConfig } from '../react/config.ts';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));

/**
 * The three pages, with a server that also serves the script of the elements.
 * @param options url of the server, and token: gives that of the reader who opened the page
 */
export function elementsConfig(options) {
  const { plugins, server, preview } = exampleConfig(options);
  const script = { '/elements.js': { target: options.url } };
  return {
    root: at('.'),
    plugins: [
      ...plugins,
      vue({ template: { compilerOptions: { isCustomElement: (tag) => tag.startsWith('fanfare-') } } }),
      svelte({ configFile: false }),
    ],
    server: { proxy: { ...server.proxy, ...script } },
    preview: { proxy: { ...preview.proxy, ...script } },
    build: {
      // The policy of the pages forbids what is in them, such as a script that loads others earlier.
      modulePreload: { polyfill: false },
      rolldownOptions: { input: ['vue.html', 'svelte.html'].map(at) },
    },
  };
}
