import '../later.css';
import { Shapes } from 'lucide-react';
import type { ReactNode } from 'react';
import { hrefTo, useRoute } from '../route.ts';
import { AsCode } from '../ui/as-code.tsx';
import { INPUTS, shapeOf } from '../ui/inputs.ts';
import { useKinds, type Kind } from '../ui/kinds.ts';
import { Sentence } from '../ui/sentence.tsx';
import { States, Teach } from '../ui/states.tsx';
import { titled } from '../ui/words.ts';

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

function Declared({ kind }: { readonly kind: Kind }): ReactNode {
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
                type: kind.name.charAt(0).toUpperCase() + kind.name.slice(1),
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
