export function compiler(): string | null;
