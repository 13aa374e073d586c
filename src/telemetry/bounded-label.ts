const MAX_LENGTH = 64;
const OTHER = 'other';

/** Limits label values chosen by clients: the first `max` values are kept, later ones become `other`. */
export function boundedLabel(max: number): (value: string) => string {
  const known = new Set<string>();
  return (value) => {
    if (known.has(value)) return value;
    if (known.size >= max || value.length > MAX_LENGTH) return OTHER;
    known.add(value);
    return value;
  };
}
