/** Spec-only: the org of all specs here, and the owner of its agent. */
export const ORG = '0b5c2f6e-4d53-4b0e-9a53-7d1a4f0f9a01';
export const OWNER = '0b5c2f6e-4d53-4b0e-9a53-7d1a4f0f9a02';
