import { BAGGAGE, seated, sum } from './bookings';
import type { WantedFlight } from './bookings';
import type { BookedFlight, Cabin, Passenger, PaymentMethod, Reservation, World } from './world';
import { Unwilling, reservationOf, userOf } from './world';

export interface FlightChange {
  reservation_id: string;
  cabin: Cabin;
  flights: WantedFlight[];
  payment_id: string;
}

/** Other flights, or the same in another cabin: the difference is paid or paid back. */
export function changeFlights(world: World, change: FlightChange): Reservation {
  const reservation = reservationOf(world, change.reservation_id);
  const people = reservation.passengers.length;
  const flights = change.flights.map(
    (wanted) => kept(reservation, wanted, change.cabin) ?? seated(world, wanted, change.cabin, people),
  );
  const difference = (sum(prices(flights)) - sum(prices(reservation.flights))) * people;
  settle(world, reservation, change.payment_id, difference);
  // The recorded tools leave the cabin of the reservation as it was booked.
  reservation.flights = flights;
  return reservation;
}

const prices = (flights: readonly BookedFlight[]): number[] => flights.map(({ price }) => price);

/** A flight that is booked already, in the same cabin, keeps its price. */
function kept(reservation: Reservation, wanted: WantedFlight, cabin: Cabin): BookedFlight | undefined {
  if (cabin !== reservation.cabin) return undefined;
  const booked = reservation.flights.find(
    (one) => one.flight_number === wanted.flight_number && one.date === wanted.date,
  );
  if (!booked) return undefined;
  const { price, origin, destination } = booked;
  return { ...wanted, price, origin, destination };
}

/** Takes what is due, or gives back what is too much, by one way of paying. */
function settle(world: World, reservation: Reservation, paymentId: string, amount: number): void {
  const method = usable(world, reservation, paymentId, amount);
  if (method.source === 'gift_card') method.amount = (method.amount ?? 0) - amount;
  if (amount !== 0) reservation.payment_history.push({ payment_id: paymentId, amount });
}

function usable(world: World, { user_id }: Reservation, paymentId: string, amount: number): PaymentMethod {
  const method = userOf(world, user_id).payment_methods[paymentId];
  if (!method) throw new Unwilling('payment method not found');
  if (method.source === 'certificate')
    throw new Unwilling('certificate cannot be used to update reservation');
  if (method.source === 'gift_card' && (method.amount ?? 0) < amount)
    throw new Unwilling('gift card balance is not enough');
  return method;
}

export interface BaggageChange {
  reservation_id: string;
  total_baggages: number;
  nonfree_baggages: number;
  payment_id: string;
}

/** More baggage is paid for; less is not paid back. */
export function changeBaggages(world: World, change: BaggageChange): Reservation {
  const reservation = reservationOf(world, change.reservation_id);
  const more = Math.max(0, change.nonfree_baggages - reservation.nonfree_baggages);
  settle(world, reservation, change.payment_id, BAGGAGE * more);
  reservation.total_baggages = change.total_baggages;
  reservation.nonfree_baggages = change.nonfree_baggages;
  return reservation;
}

/** Other people, as many as before. */
export function changePassengers(
  world: World,
  { reservation_id, passengers }: { reservation_id: string; passengers: Passenger[] },
): Reservation {
  const reservation = reservationOf(world, reservation_id);
  if (passengers.length !== reservation.passengers.length)
    throw new Unwilling('number of passengers does not match');
  reservation.passengers = passengers;
  return reservation;
}

/** Everything that was paid is paid back. */
export function cancel(world: World, { reservation_id }: { reservation_id: string }): Reservation {
  const reservation = reservationOf(world, reservation_id);
  const refunds = reservation.payment_history.map(({ payment_id, amount }) => ({
    payment_id,
    amount: -amount,
  }));
  reservation.payment_history.push(...refunds);
  reservation.status = 'cancelled';
  return reservation;
}

const CERTIFICATE_IDS = ['certificate_3221322', 'certificate_3221323', 'certificate_3221324'];

/** A certificate for a customer to book with. */
export function sendCertificate(
  world: World,
  { user_id: userId, amount }: { user_id: string; amount: number },
): string {
  const { payment_methods: methods } = userOf(world, userId);
  const id = CERTIFICATE_IDS.find((one) => !(one in methods));
  if (!id) throw new Unwilling('no certificate ids left');
  methods[id] = { source: 'certificate', amount, id };
  return `Certificate ${id} added to user ${userId} with amount ${amount}.`;
}
