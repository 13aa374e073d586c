import { useQuery } from '@fanfare/react';
import { useMemo } from 'react';
import { INPUTS, type InputField, type Inputs } from './inputs.ts';

/** A type of actions as it is declared. */
export interface Kind {
  readonly name: string;
  readonly description: string | null;
  /** In an order to fill them in: what is needed first, an id before its name, tags last. */
  readonly fields: readonly InputField[];
}

/** What the schema says of publishing, with types of one's own. */
export function useKinds(): Pick<ReturnType<typeof useQuery<Inputs>>, 'error' | 'isLoading' | 'reload'> & {
  readonly kinds: readonly Kind[];
  readonly scopes: readonly string[];
  readonly defaultScope: string;
} {
  const { data, error, isLoading, reload } = useQuery<Inputs>(INPUTS);
  return useMemo(() => {
    const kinds = (data?.descriptor?.inputFields ?? []).map(({ name, description, type }) => ({
      ...{ name, description },
      fields: ordered(type.inputFields ?? []),
    }));
    return {
      ...{ kinds, error, isLoading, reload },
      scopes: data?.scope?.enumValues.map(({ name }) => name) ?? [],
      defaultScope: data?.action?.inputFields.find(({ name }) => name === 'scope')?.defaultValue ?? '',
    };
  }, [data, error, isLoading, reload]);
}

/** "applicantId" and "applicantName" are both of the applicant. */
function stemOf(name: string): string {
  return name.replace(/(?:Id|Name|Title|Type)$/, '');
}

function ordered(fields: readonly InputField[]): InputField[] {
  const isNeeded = ({ type }: InputField): boolean => type.kind === 'NON_NULL';
  const needed = new Set(fields.filter(isNeeded).map(({ name }) => stemOf(name)));
  const rank = ({ name }: InputField): number => (name === 'tags' ? 2 : needed.has(stemOf(name)) ? 0 : 1);
  // The order of the schema, where it says nothing else.
  return [...fields].sort(
    (a, b) => rank(a) - rank(b) || (stemOf(a.name) === stemOf(b.name) ? a.name.localeCompare(b.name) : 0),
  );
}

/** As it is said to people: "Name of the applicant." is a better label than "applicantName", where it is short. */
export function labelOf({ name, description }: InputField): string {
  const said = (description ?? '').trim().replace(/\.$/, '');
  return said === '' || said.length > 44 || said.includes('.') ? name : said;
}

/** Whether a field holds the id of what does not exist before, such as a new post. */
export function isNewId({ name, type }: InputField): boolean {
  return type.kind === 'NON_NULL' && name.endsWith('Id') && name.length > 2;
}

/** Such as "post:k3x9q2". */
export function newId({ name }: InputField): string {
  const [a = 0] = crypto.getRandomValues(new Uint32Array(1));
  return `${stemOf(name)
    .replaceAll(/([A-Z])/g, '-$1')
    .toLowerCase()}:${a.toString(36).slice(0, 6)}`;
}
