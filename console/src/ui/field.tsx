import { useId, type ReactNode } from 'react';
import { MEDIA, shapeOf, type InputField } from './inputs.ts';
import { labelOf } from './kinds.ts';

/** What the browser offers to fill in a value of a type. */
const SHAPES: Readonly<Record<string, { readonly type: string; readonly step?: number | 'any' }>> = {
  Int: { type: 'number', step: 1 },
  Float: { type: 'number', step: 'any' },
  DateTime: { type: 'datetime-local', step: 1 },
};
const HINTS: Readonly<Record<string, string>> = {
  JSON: 'As JSON.',
  DateTime: 'In the time of this machine.',
  [MEDIA]: 'Addresses that begin with https://, one on each line.',
};

interface FieldProps {
  readonly field: InputField;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** One field of a type, as the schema describes it. */
export function Field({ field, value, onChange }: FieldProps): ReactNode {
  const id = useId();
  const { name, type, description } = field;
  const { isRequired, isList, name: typeName, choices } = shapeOf(type);
  const label = labelOf(field);
  const isLong = typeName === 'JSON' || typeName === MEDIA || (!isList && /text/i.test(name));
  const common = { id, name, value, required: isRequired, 'aria-describedby': `${id}-hint` };
  const more = description?.startsWith(label) === true ? '' : description;
  return (
    <div className="field">
      <label htmlFor={id} dir="auto">
        {label + (isRequired ? ' *' : '')}
      </label>
      <code className="hint">{name}</code>
      {choices !== undefined ? (
        <select {...common} onChange={(event) => onChange(event.target.value)}>
          <option value="">{isRequired ? 'choose' : 'left out'}</option>
          {choices.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      ) : isLong ? (
        <textarea {...common} rows={2} onChange={(event) => onChange(event.target.value)} />
      ) : (
        <input
          {...common}
          {...(isList ? {} : SHAPES[typeName])}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
      <span id={`${id}-hint`} className="hint">
        {more !== '' && <span dir="auto">{more} </span>}
        {HINTS[typeName] ?? (isList ? 'Several, with commas between.' : '')}
      </span>
    </div>
  );
}
