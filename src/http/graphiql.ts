import type { GraphiQLOptions, Plugin } from 'graphql-yoga';

const FIRST_QUERY = `# Put a token under "Headers" below.
query Feed {
  feed(first: 10) {
    edges {
      node {
        relevancy
        isUnread
        action {
          conducted
          actor { name }
          descriptor { summary }
        }
      }
    }
  }
}
`;

export const GRAPHIQL_OPTIONS: GraphiQLOptions = {
  title: 'Fanfare',
  defaultQuery: FIRST_QUERY,
  headers: JSON.stringify({ authorization: 'Bearer ' }, null, 2),
};

/**
 * The query page, which needs nothing from any other server. It weighs several megabytes: loaded and rendered when it
 * is first asked for, once.
 */
export function createGraphiQLRenderer(): (options: GraphiQLOptions) => Promise<string> {
  let page: Promise<string> | undefined;
  async function render(options: GraphiQLOptions): Promise<string> {
    const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
    return renderGraphiQL(options);
  }
  return (options) => (page ??= render(options));
}

/** The page brings everything along inline; whatever else it might ever ask for, browsers refuse it. */
const PAGE_POLICY = "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:";

export function pagePolicy(): Plugin {
  return {
    onResponse({ response }) {
      if (response.headers.get('content-type')?.startsWith('text/html') === true)
        response.headers.set('content-security-policy', PAGE_POLICY);
    },
  };
}
