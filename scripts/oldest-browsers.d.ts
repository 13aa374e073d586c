export function oldestBrowsers(): { readonly name: string; readonly version: string }[];
export function buildTarget(): string[];
export function styleFor(file: string): Promise<string>;
