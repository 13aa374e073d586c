import { ACTIVITIES, activityField, activityNamed } from './activity.ts';
import { compiledFields, inputNameOf, isShownAs, labelOf } from './compile.ts';
import type { DescriptorDeclaration } from './declare.ts';
import { declarationSchema } from './declaration-schema.ts';
import type { FieldDeclaration, NumberOptions } from './field.ts';
import type { Locale } from './locale.ts';
import { ACTOR, defineGroupSentence, defineSentence, SUBJECTS, type Messages } from './sentence.ts';

export interface DeclarationFault {
  /** Location of the fault, such as `descriptors[0].fields.repoId.label`. */
  readonly path: string;
  readonly message: string;
}

/** Longest name of a type, in characters. */
export const MAX_TYPE_NAME = 64;
const TYPE_NAME = new RegExp(`^[A-Z][A-Za-z0-9]{0,${String(MAX_TYPE_NAME - 1)}}$`);
const FIELD_NAME = /^[a-z][A-Za-z0-9]{0,63}$/;
const ENUM_VALUE = /^(?!true$|false$|null$|__)[A-Za-z_][A-Za-z0-9_]{0,63}$/;
/** Names that every descriptor already has, or that sentences use with another meaning. */
const RESERVED = ['type', 'tags', 'summary', 'summaryParts', ACTOR, SUBJECTS];

/** All faults of a declaration, which may be untyped input. Empty: it can be compiled. */
export function faultsOf(declaration: unknown, path: string, locales: readonly Locale[]): DeclarationFault[] {
  const read = declarationSchema(locales).safeParse(declaration);
  if (!read.success)
    return read.error.issues.map((issue) => ({
      path: pathOf(path, issue.path),
      message: issue.message,
    }));
  // The schema above has verified the type.
  const checked = declaration as DescriptorDeclaration;
  const faults = [
    ...nameFaults(checked, path),
    ...fieldFaults(checked, path),
    ...activityFaults(checked, path),
    ...contentFaults(checked, path),
  ];
  return faults.length > 0 ? faults : sentenceFaults(checked, path, locales);
}

function nameFaults({ type, fields, group = [] }: DescriptorDeclaration, path: string): DeclarationFault[] {
  const faults: DeclarationFault[] = [];
  if (!TYPE_NAME.test(type))
    faults.push({
      path: `${path}.type`,
      message: `${JSON.stringify(type)} is not a valid type name: start with a capital letter, then letters and digits, at most 64 characters`,
    });
  // Every publication would seem to have a descriptor of this type.
  else if (inputNameOf(type) in Object.prototype)
    faults.push({
      path: `${path}.type`,
      message: `Inputs would have the property ${inputNameOf(type)}, a name used by every JavaScript object`,
    });
  for (const name of Object.keys(fields)) {
    if (RESERVED.includes(name))
      faults.push({ path: `${path}.fields.${name}`, message: 'This name is used by every descriptor' });
    // An inherited property would make a missing field look present.
    else if (name in Object.prototype)
      faults.push({
        path: `${path}.fields.${name}`,
        message: 'This name is used by every JavaScript object',
      });
    else if (!FIELD_NAME.test(name))
      faults.push({
        path: `${path}.fields.${name}`,
        message:
          'A field name starts with a lower-case letter, then letters and digits, at most 64 characters',
      });
  }
  for (const [index, name] of group.entries()) {
    const at = `${path}.group[${String(index)}]`;
    if (!Object.hasOwn(fields, name)) faults.push({ path: at, message: `There is no field ${name}` });
    else if (fields[name]?.kind === 'json' || fields[name]?.kind === 'media')
      faults.push({ path: at, message: `${name} is no single value, by which actions could be grouped` });
  }
  return faults;
}

function fieldFaults({ fields }: DescriptorDeclaration, path: string): DeclarationFault[] {
  const named = new Map<string, string>();
  return Object.entries(fields).flatMap(([name, field]) => {
    const at = `${path}.fields.${name}`;
    const found = [...rangeFaults(field, at), ...valueFaults(field, at)];
    const label = labelOf(field);
    if (label === undefined) return found;
    const option = `${at}.${field.kind === 'person' ? 'name' : 'label'}`;
    const other = named.get(label);
    named.set(label, name);
    const fault = labelFault(fields, label, other);
    return fault === null ? found : [...found, { path: option, message: fault }];
  });
}

/** A reader sees one text, one rating and one row of pictures below a sentence. */
function contentFaults({ fields }: DescriptorDeclaration, path: string): DeclarationFault[] {
  const named = new Set(Object.values(fields).map(labelOf));
  const found = { body: '', rating: '', media: '' };
  return Object.entries(fields).flatMap(([name, field]) => {
    const as = (['body', 'rating'] as const).find((one) => isShownAs(field.options, one));
    const shown = field.kind === 'media' ? 'media' : as;
    if (shown === undefined) return [];
    const at = `${path}.fields.${name}${shown === 'media' ? '' : '.shownAs'}`;
    const other = found[shown];
    found[shown] = name;
    if (other !== '') return [{ path: at, message: `${other} is already the ${shown} of this type` }];
    if (named.has(name)) return [{ path: at, message: `${name} holds a name, which is in the sentence` }];
    if (shown !== 'rating') return [];
    const { min = 0, max = 0 } = field.options as NumberOptions;
    if (max <= 0) return [{ path: at, message: 'A rating is so many of max: give one above 0' }];
    return min < 0 ? [{ path: at, message: `A rating is not below 0, as min allows` }] : [];
  });
}

function labelFault(
  fields: DescriptorDeclaration['fields'],
  label: string,
  other: string | undefined,
): string | null {
  const field = Object.hasOwn(fields, label) ? fields[label] : undefined;
  if (field === undefined) return `There is no field ${label} to hold the name`;
  if (field.kind !== 'text') return `${label} is not a text field, as a name requires`;
  if (field.options.min !== undefined || field.options.max !== undefined)
    return `${label} holds a name, which has 1 to 512 characters: remove its min and max`;
  return other === undefined ? null : `${label} already holds the name of ${other}`;
}

function activityFaults({ activity, fields }: DescriptorDeclaration, path: string): DeclarationFault[] {
  if (activity === undefined) return [];
  const field = activityField(activity);
  const isFit =
    field === null
      ? activityNamed(activity) === activity
      : Object.hasOwn(fields, field) && fields[field]?.kind === 'text';
  if (isFit) return [];
  const message =
    field === null ? `Must be {field} or one of ${ACTIVITIES.join(', ')}` : `There is no text field ${field}`;
  return [{ path: `${path}.activity`, message }];
}

function rangeFaults(field: FieldDeclaration, path: string): DeclarationFault[] {
  if (field.kind !== 'text' && field.kind !== 'int' && field.kind !== 'float') return [];
  const { min, max } = field.options;
  if (min === undefined || max === undefined || min <= max) return [];
  return [{ path: `${path}.min`, message: `${String(min)} is above max, which is ${String(max)}` }];
}

function valueFaults(field: FieldDeclaration, path: string): DeclarationFault[] {
  if (field.kind !== 'enum') return [];
  return field.values.flatMap((value, index) => {
    const at = `${path}.values[${String(index)}]`;
    if (!ENUM_VALUE.test(value))
      return [{ path: at, message: `${JSON.stringify(value)} is not a valid name for an enum value` }];
    return field.values.indexOf(value) === index ? [] : [{ path: at, message: `${value} occurs twice` }];
  });
}

function sentenceFaults(
  declaration: DescriptorDeclaration,
  path: string,
  locales: readonly Locale[],
): DeclarationFault[] {
  const { summary, groupSummary = {} } = declaration;
  const faults: DeclarationFault[] = [];
  const note = (at: string, message: string | null): void => {
    if (message !== null) faults.push({ path: `${path}.${at}`, message });
  };
  for (const locale of locales) {
    const said = summary[locale];
    if (said !== undefined) note(`summary.${locale}`, sentenceFault(declaration, said));
    const saidOfGroup = groupSummary[locale] ?? said;
    if (saidOfGroup === undefined || faults.length > 0) continue;
    note(`groupSummary.${locale}`, groupSentenceFault(declaration, saidOfGroup));
  }
  return faults;
}

export function sentenceFault({ fields }: DescriptorDeclaration, said: Messages): string | null {
  return faultIn(() => defineSentence({ en: said }, compiledFields(fields)));
}

export function groupSentenceFault({ fields, group }: DescriptorDeclaration, said: Messages): string | null {
  if (group === undefined) return null;
  return faultIn(() => defineGroupSentence({ en: said }, compiledFields(fields), group));
}

export function faultIn(work: () => unknown): string | null {
  try {
    work();
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Location as written in the file, without the levels that `field.*` adds. */
export function pathOf(start: string, parts: readonly PropertyKey[]): string {
  return parts
    .filter((part, index) => !(part === 'options' && parts[index - 2] === 'fields'))
    .reduce<string>(
      (path, part) => (typeof part === 'number' ? `${path}[${String(part)}]` : `${path}.${String(part)}`),
      start,
    );
}
