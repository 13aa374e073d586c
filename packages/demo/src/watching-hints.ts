import { READER } from './people.ts';

const WATCH =
  'subscription { feedEvents { __typename ... on FeedItemAdded { item { action { descriptor { summary } } } } } }';
const READ = '{ feed(first: 10) { edges { node { relevancy reasons action { descriptor { summary } } } } } }';

export function watchingHints(url: string, token: string): string[] {
  const endpoint = `${url.replace(/\/(?:graphql)?$/, '')}/graphql`;
  const call = (query: string, accept: string) =>
    [
      `  curl -sN ${endpoint} -H "authorization: Bearer $TOKEN" -H 'content-type: application/json' \\`,
      `    -H 'accept: ${accept}' -d '${JSON.stringify({ query })}'`,
    ].join('\n');
  return [
    '',
    `The demo, with two readers and somebody who publishes: ${endpoint.replace(/graphql$/, 'console/demo')}`,
    '',
    `All of this is in the feed of "${READER}". To watch it in another terminal:`,
    '',
    `  TOKEN=${token}`,
    call(WATCH, 'text/event-stream'),
    '',
    'To read it:',
    '',
    call(READ, 'application/json'),
    '',
    `In a browser: ${endpoint.replace(/graphql$/, 'console')}, or ${endpoint}, with {"authorization": "Bearer …"} under Headers.`,
    '',
    'Live actions (stop with Ctrl-C):',
  ];
}
