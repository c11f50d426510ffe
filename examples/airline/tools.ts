import { answerText } from './answer-text';
import { book } from './bookings';
import type { Booking } from './bookings';
import { calculate } from './calculator';
import { cancel, changeBaggages, changeFlights, changePassengers, sendCertificate } from './changes';
import type { BaggageChange, FlightChange } from './changes';
import { AIRPORTS, directFlights, oneStopFlights } from './searches';
import type { Search } from './searches';
import type { Passenger, World } from './world';
import { Unwilling, reservationOf, userOf } from './world';

type Work = (world: World, given: never) => unknown;

/** The fourteen tools by name; what is not a text is answered as JSON. */
const TOOLS: Readonly<Record<string, Work>> = {
  book_reservation: (world, given: Booking) => book(world, given),
  calculate: (_world, { expression }: { expression: string }) => calculate(expression),
  cancel_reservation: (world, given: { reservation_id: string }) => cancel(world, given),
  get_reservation_details: (world, given: { reservation_id: string }) =>
    reservationOf(world, given.reservation_id),
  get_user_details: (world, given: { user_id: string }) => userOf(world, given.user_id),
  list_all_airports: () => AIRPORTS,
  search_direct_flight: (world, given: Search) => directFlights(world, given),
  search_onestop_flight: (world, given: Search) => oneStopFlights(world, given),
  send_certificate: (world, given: { user_id: string; amount: number }) => sendCertificate(world, given),
  think: () => '',
  transfer_to_human_agents: () => 'Transfer successful',
  update_reservation_baggages: (world, given: BaggageChange) => changeBaggages(world, given),
  update_reservation_flights: (world, given: FlightChange) => changeFlights(world, given),
  update_reservation_passengers: (world, given: { reservation_id: string; passengers: Passenger[] }) =>
    changePassengers(world, given),
};

export const WRITES = /^(book|cancel|update|send)_/;

/**
 * What a tool answers, as text. A refusal is an answer like any other: it begins with "Error: " and leaves the world as it was.
 * Undefined: there is no such tool.
 */
export function callTool(world: World, name: string, given: object): string | undefined {
  const work = Object.hasOwn(TOOLS, name) ? TOOLS[name] : undefined;
  if (!work) return undefined;
  try {
    const answer = work(world, given as never);
    return typeof answer === 'string' ? answer : answerText(answer);
  } catch (error) {
    if (error instanceof Unwilling) return `Error: ${error.message}`;
    throw error;
  }
}
