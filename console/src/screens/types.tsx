import '../later.css';
import { useQuery } from '@fanfare/react';
import { Shapes } from 'lucide-react';
import type { ReactNode } from 'react';
import { hrefTo, useRoute } from '../route.ts';
import { useSession } from '../session.ts';
import { AsCode } from '../ui/as-code.tsx';
import { INPUTS, shapeOf } from '../ui/inputs.ts';
import { useKinds, type Kind } from '../ui/kinds.ts';
import { Sentence } from '../ui/sentence.tsx';
import { States, Teach } from '../ui/states.tsx';
import { titled } from '../ui/words.ts';
import { momentIn, useZone } from '../zone.ts';

const DAYS = 14;
/** No query counts actions by day: these are the days of the newest, as many as a page can have. */
const NEWEST = `query NewestOfType($type: String!) {
  actions(first: 100, filter: { types: [$type] }) { edges { node { conducted } } pageInfo { hasNextPage } } }`;

interface Newest {
  readonly actions: {
    readonly edges: readonly { readonly node: { readonly conducted: string } }[];
    readonly pageInfo: { readonly hasNextPage: boolean };
  };
}

/** Every type that is declared: what it has, what it says, how it is published. */
export function TypesScreen(): ReactNode {
  const { id } = useRoute();
  const { kinds, error, isLoading, reload } = useKinds();
  const kind = kinds.find(({ name }) => name === id) ?? kinds[0];
  return (
    <>
      <States
        {...{ isLoading, error }}
        isEmpty={kind === undefined}
        empty={
          <Teach icon={Shapes} title="The schema is not served here." code="INTROSPECTION=on">
            Types are read from the schema of the server, which says nothing of itself in production.
          </Teach>
        }
        onRetry={reload}
      >
        <nav className="ids" aria-label="Types">
          {kinds.map(({ name }) => (
            <a
              key={name}
              className="chip"
              dir="auto"
              href={hrefTo('types', name)}
              aria-current={name === kind?.name ? 'page' : undefined}
            >
              {titled(name)}
            </a>
          ))}
        </nav>
        {kind !== undefined && <Declared kind={kind} />}
      </States>
      {kind === undefined ? (
        <AsCode query={INPUTS} />
      ) : (
        <AsCode query={publishOf(kind)} variables={{}} isOpen />
      )}
    </>
  );
}

/** A value of each field that is needed, to begin with. */
function publishOf({ name, fields }: Kind): string {
  const samples: Readonly<Record<string, string>> = { Int: '1', Float: '1', Boolean: 'true', JSON: '{}' };
  const given = fields
    .filter(({ type }) => type.kind === 'NON_NULL')
    .map(({ name: field, type }) => {
      const { isList, name: of, choices } = shapeOf(type);
      const one =
        samples[of] ?? choices?.[0] ?? JSON.stringify(of === 'DateTime' ? '2026-01-01T00:00:00Z' : '…');
      return `${field}: ${isList ? `[${one}]` : one}`;
    });
  return `mutation { publishAction(input: { descriptor: { ${name}: { ${given.join(', ')} } } }) { action { id } } }`;
}

/** As the API names a type: Posted, of the field posted. */
const typeOf = ({ name }: Kind): string => name.charAt(0).toUpperCase() + name.slice(1);

/** Columns of the last days. The first column may lack actions that are older than those that were read. */
function Days({ type }: { readonly type: string }): ReactNode {
  const zone = useZone();
  const { data, error, isLoading, reload } = useQuery<Newest>(NEWEST, { type });
  const { edges, pageInfo } = data?.actions ?? { edges: [], pageInfo: { hasNextPage: false } };
  const dayOf = (at: Date): string => momentIn(zone, at.toISOString()).slice(0, 10);
  const counts = new Map<string, number>();
  for (const { node } of edges) {
    const day = dayOf(new Date(node.conducted));
    counts.set(day, (counts.get(day) ?? 0) + 1);
  }
  const oldest = pageInfo.hasNextPage ? [...counts.keys()].sort()[0] : undefined;
  const days = Array.from({ length: DAYS }, (_, ago) =>
    dayOf(new Date(Date.now() - (DAYS - 1 - ago) * 86_400_000)),
  );
  const shown = days.filter((day) => oldest === undefined || day >= oldest);
  const most = Math.max(1, ...shown.map((day) => counts.get(day) ?? 0));
  return (
    <States isLoading={isLoading} error={error} isEmpty={data === undefined} empty={null} onRetry={reload}>
      <ol className="days">
        {shown.map((day) => (
          <li key={day} data-none={counts.has(day) ? undefined : ''}>
            <span translate="no">
              {counts.get(day) ?? 0}
              {day === oldest && '+'}
            </span>
            <i style={{ blockSize: `${(100 * (counts.get(day) ?? 0)) / most}%` }} />
            <time dateTime={day}>{day.slice(5)}</time>
          </li>
        ))}
      </ol>
      {oldest !== undefined && <p className="hint">Of the newest 100 actions.</p>}
    </States>
  );
}

function Declared({ kind }: { readonly kind: Kind }): ReactNode {
  const isAdmin = useSession()?.roles.includes('admin') === true;
  return (
    <>
      <div className="columns">
        <section className="card">
          <h2 dir="auto">
            {titled(kind.name)} <code className="hint">{kind.name}</code>
          </h2>
          <p dir="auto">{kind.description}</p>
          <p className="buttons">
            <a className="button" href={hrefTo('publish', kind.name)}>
              Publish one
            </a>
            <a
              className="button"
              href={hrefTo('moderation', '', {
                type: typeOf(kind),
              })}
            >
              Show all
            </a>
          </p>
        </section>
        <section className="card">
          <h2>What it says</h2>
          <Sentence key={kind.name} kind={kind} />
        </section>
      </div>
      {isAdmin && (
        <section className="card by-day">
          <h2>Actions by day</h2>
          <Days key={kind.name} type={typeOf(kind)} />
        </section>
      )}
      <section className="card scroll">
        <table>
          <thead>
            <tr>
              {['Field', 'Type', 'What it is'].map((title) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {kind.fields.map(({ name, type, description }) => {
              const { isRequired, isList, name: of, choices } = shapeOf(type);
              return (
                <tr key={name}>
                  <td>
                    <code>{name}</code>
                  </td>
                  <td className="quiet">
                    {isList && 'several '}
                    <code>{of}</code>
                    {isRequired ? '' : ', may be left out'}
                  </td>
                  <td dir="auto">
                    {description}
                    {choices !== undefined && <span className="quiet"> {choices.join(', ')}</span>}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </section>
    </>
  );
}
