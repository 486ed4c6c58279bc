// Refused is an error that the hub has answered.
export class Refused extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly status: number,
    readonly fix: string,
    readonly detail: Record<string, unknown>,
  ) {
    super(message);
  }
}
