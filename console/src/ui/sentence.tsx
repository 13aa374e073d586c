import { useQuery, type SummaryPart } from '@fanfare/react';
import type { ReactNode } from 'react';
import { useSession } from '../session.ts';
import { MEDIA, shapeOf } from './inputs.ts';
import type { Kind } from './kinds.ts';

const LANGUAGES = { en: 'English', de: 'Deutsch' } as const;

type Parts = readonly Pick<SummaryPart, 'text'>[];
interface Sample {
  readonly descriptor: Readonly<Record<string, string | number | boolean | Parts | null>>;
}
interface Data {
  readonly actions?: { readonly edges: readonly { readonly node: Sample }[] };
  readonly feed?: { readonly edges: readonly { readonly node: { readonly action: Sample } }[] };
}

interface Props {
  readonly kind: Kind;
  /** What was typed, by the names of the fields. Absent: the sentence as it was. */
  readonly values?: Readonly<Record<string, string>>;
  readonly actor?: string;
}

/**
 * The sentence of a type in each language. Only the server makes sentences: it is that of the last action of this type, in which
 * the values are exchanged for those that were typed.
 */
export function Sentence({ kind, values, actor }: Props): ReactNode {
  const isAdmin = useSession()?.roles.includes('admin') === true;
  const fields = kind.fields.filter(({ type: of }) => shapeOf(of).name !== MEDIA);
  const type = kind.name.charAt(0).toUpperCase() + kind.name.slice(1);
  const asked = `descriptor { ${Object.keys(LANGUAGES)
    .map((locale) => `${locale}: summaryParts(locale: "${locale}") { text }`)
    .join(' ')} ... on ${type}Descriptor { ${fields.map(({ name }) => `f_${name}: ${name}`).join(' ')} } }`;
  const query = isAdmin
    ? `query Sample($type: String!) { actions(first: 1, filter: { types: [$type] }) { edges { node { ${asked} } } } }`
    : `query Sample($type: String!) { feed(first: 1, filter: { types: [$type] }) { edges { node { action { ${asked} } } } } }`;
  const { data } = useQuery<Data>(query, { type });
  const sample = data?.actions?.edges[0]?.node ?? data?.feed?.edges[0]?.node.action;
  if (sample === undefined)
    return <p className="quiet">Once an action of this type is published, its sentence appears here.</p>;
  const { descriptor } = sample;
  const typed = (text: string, at: number): string => {
    if (at === 0 && actor !== undefined && actor !== '') return actor;
    const field = kind.fields.find(({ name }) => {
      const was = descriptor[`f_${name}`];
      return (typeof was === 'number' ? String(was) : was) === text.trim();
    });
    const value = field === undefined ? '' : (values?.[field.name]?.trim() ?? '');
    return value === '' ? text : value;
  };
  return (
    <dl className="plain">
      {Object.entries(LANGUAGES).map(([locale, language]) => (
        <div key={locale}>
          <dt className="hint">{language}</dt>
          <dd lang={locale} dir="auto">
            {((descriptor[locale] ?? []) as Parts).map(({ text }, at) => typed(text, at)).join('')}
          </dd>
        </div>
      ))}
    </dl>
  );
}
