import { fileURLToPath } from 'node:url';
import type { Connect, InlineConfig } from 'vite';

interface ExampleOptions {
  /** Address of the server, such as http://127.0.0.1:4000. */
  readonly url: string;
  /** Token of the reader who opened the page. */
  readonly token: () => Promise<string>;
}

/** A page, and what a backend does for it: it forwards requests to the API and signs tokens. */
export function exampleConfig({ url, token }: ExampleOptions): InlineConfig {
  const signs: Connect.NextHandleFunction = (_request, response) => {
    token().then(
      (text) => response.end(text),
      (error: unknown) => {
        response.statusCode = 500;
        response.end(String(error));
      },
    );
  };
  const proxy = { '/graphql': { target: url, ws: true, changeOrigin: true } };
  return {
    root: fileURLToPath(new URL('.', import.meta.url)),
    plugins: [
      {
        name: 'tokens',
        configureServer: (server) => void server.middlewares.use('/token', signs),
        configurePreviewServer: (server) => void server.middlewares.use('/token', signs),
      },
    ],
    server: { proxy },
    preview: { proxy },
  };
}
